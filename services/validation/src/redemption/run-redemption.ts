import { ApiError } from "@scrip/errors";
import type {
  CommitOutcome,
  RedemptionCommand,
  Stale,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import { overridingLines } from "../catalogue/catalogue-overrides.ts";
import { commitPatiently, mayGoOn, pauseForChange } from "../commit/commit-retry.ts";
import { afterwards } from "../commit/post-commit.ts";
import type { Deps } from "../deps.ts";
import { checkRedeemables } from "../domain/decide.ts";
import {
  foundAgain,
  type Loss,
  lossesAfter,
  nameOfRedeemable,
  NOTHING_LOST,
  withoutLosses,
} from "../domain/redemption/commit-conflicts.ts";
import { type Circumstances, gatherDecision, type Gathered } from "../loading/decision-context.ts";
import { assignmentsShown } from "../loading/displayed-assignments.ts";
import { gatherCustomer, trackingId } from "../loading/gather.ts";
import { gatherOrderInQuestion } from "../loading/order.ts";
import { gatherNamed, type Named } from "../loading/resolved-redeemables.ts";
import { gatherStackingRules } from "../loading/stacking-rules.ts";
import { type Asked, customerOf } from "../mapping/decision-input.ts";
import { refusedBy, toRefusal } from "../mapping/error.ts";
import { keepNote, noteOf } from "../mapping/redemption-note.ts";
import { type OrderInHand, takeOrder } from "../order/order-claim.ts";
import { type SessionInHand, takeSession } from "../session/session-lock.ts";
import {
  applicableOf,
  type Decided,
  decideOn,
  type ValidationOptions,
} from "../validation/run-validation.ts";
import { refusalOfDecision } from "./decision-rejection.ts";
import { answered, type Committed, type Redeemed } from "./finish-redemption.ts";
import { withPoints } from "./points-hold.ts";
import { redeemCommand, refusalCommand } from "./redemption-command.ts";
import { customerToStore, type CustomerToStore } from "./upsert-customer.ts";

/**
 * Redeems exactly once: gathers, decides as a validation does, and commits the decision under its
 * guards. A refusal is thrown, after it was recorded (spec/validation-and-redemption.md §8).
 */
export async function redeemAsked(
  deps: Deps,
  call: Call,
  sent: Asked,
  options: ValidationOptions = {},
): Promise<Redeemed> {
  const said = customerOf(sent);
  const overrides = overridingLines(call, sent.order?.items);
  const [settings, named, findCustomer] = await Promise.all([
    gatherStackingRules(deps, call),
    gatherNamed(deps, call, sent),
    settled(gatherCustomer(deps, call, said)),
  ]);
  if (named.earlier !== undefined)
    return answered(deps, call, { outcome: named.earlier }, overrides);
  const stacking = options.stacking?.(settings) ?? settings;
  const malformed = checkRedeemables(sent.redeemables, stacking);
  if (malformed !== null) throw toRefusal(malformed);
  const customer = findCustomer();
  options.check?.(named);
  const tracking = trackingId(
    deps,
    call,
    { trackingId: sent.trackingId, customer: said },
    customer,
  );

  let inHand: OrderInHand | undefined;
  let session: SessionInHand | undefined;
  let mayRelease = true;
  try {
    const question = await gatherOrderInQuestion(deps, call, sent.order, async (input) => {
      inHand = await takeOrder(deps, call, input);
      return inHand.stored;
    });
    const { stored, lines } = question;
    const asked = { ...sent, order: question.sent };
    session = await sessionOf(deps, call, asked, named);
    const circumstances = { asked, said, customer, stored, lines, stacking, trace: true };
    const toStore = customerToStore(deps, call, { said, found: customer });
    const commit: Commit = async (command) => {
      // When the answer gets lost nobody knows whether it was done: the order stays claimed, and the
      // redemption's event has until the claim ends to store it.
      mayRelease = false;
      const whole = overrides.length === 0 ? command : { ...command, overrides: [...overrides] };
      const outcome = await commitPatiently(() => deps.clients.commitRedemption(whole));
      mayRelease = !isMade(outcome);
      return outcome;
    };
    const request = { deps, call, order: inHand, tracking, toStore, commit };
    const committed = await decideAndCommit(request, circumstances, named);
    return await answered(deps, call, committed, overrides);
  } finally {
    const claim = mayRelease ? inHand?.release() : undefined;
    await afterwards(deps, "giving back what a redemption had claimed", claim, session?.release());
  }
}

/** By this request, and not by an earlier one with its key. */
const isMade = ({ outcome, replayed }: CommitOutcome): boolean =>
  outcome.case === "made" && !replayed;

/** A repeat is answered again, whatever is refused by now: what is thrown waits until it is asked for. */
const settled = <Value>(work: Promise<Value>): Promise<() => Value> =>
  work.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );

type Request = {
  readonly deps: Deps;
  readonly call: Call;
  readonly order: OrderInHand | undefined;
  readonly tracking: string | undefined;
  readonly toStore: CustomerToStore;
  readonly commit: Commit;
};

type Commit = (command: RedemptionCommand) => Promise<CommitOutcome>;

/** Decides and commits, again and again while what was decided on changes under the decision. */
async function decideAndCommit(
  request: Request,
  circumstances: Circumstances,
  first: Named,
): Promise<Committed> {
  const { deps, call } = request;
  let found = await gatherDecision(deps, call, circumstances, first);
  let losses = NOTHING_LOST;
  for (let attempt = 0; ; attempt += 1) {
    const gathered = { ...found, request: withoutLosses(found.request, losses) };
    const decision = await decideOn(gathered, call);
    const committed = await commitDecision(request, gathered, decision);
    const { outcome } = committed.outcome;
    if (outcome.case !== "stale") return committed;
    const lost = lostOf(outcome.value, decision);
    losses = lossesAfter(losses, lost);
    // What was lost is all that the commit found wrong: so it is decided without it, and at once.
    if (lost.length > 0 && mayGoOn(call.deadline)) continue;
    if (!(await pauseForChange(attempt, call.deadline))) break;
    const named = await gatherNamed(deps, call, circumstances.asked);
    found = await gatherDecision(deps, call, circumstances, named);
    losses = foundAgain(losses);
  }
  const names = circumstances.asked.redeemables.map(({ id }) => id).join(", ");
  throw new ApiError("service_unavailable", {
    details: `What is redeemed is being changed (${names}); try again`,
  });
}

function lostOf({ lost }: Stale, decision: Decided): readonly Loss[] {
  const applicable = applicableOf(decision);
  return lost.flatMap(({ part, error, left = null }) => {
    const redeemable = applicable[part]?.redeemable;
    const refusal = error && refusedBy(error);
    if (redeemable === undefined || refusal === undefined) return [];
    return { name: nameOfRedeemable(redeemable), refusal, left };
  });
}

/** Commits what was decided: value taken, or a refusal recorded. */
async function commitDecision(
  request: Request,
  gathered: Gathered,
  decision: Decided,
): Promise<Committed> {
  const { deps, call, toStore, commit } = request;
  if (!decision.valid) {
    const { refusal, recordedOn } = refusalOfDecision(decision, gathered);
    if (recordedOn === undefined) throw toRefusal(refusal);
    const context = { ...request, gathered };
    return { outcome: await commit(refusalCommand(context, recordedOn, refusal)) };
  }
  const [customer, assignments] = await Promise.all([
    toStore(),
    assignmentsShown(deps, call, decision.redeemables),
  ]);
  const note = noteOf(decision.redeemables, { gathered, assignments }, call);
  const answer = { customer, note: keepNote(note, call) };
  const outcome = await withPoints(deps, call, { decision, gathered }, (points) =>
    commit(redeemCommand({ ...request, gathered, points }, decision, answer)),
  );
  return { outcome, note };
}

async function sessionOf(
  deps: Deps,
  call: Call,
  { session }: Asked,
  { vouchers }: Named,
): Promise<SessionInHand | undefined> {
  const voucherIds = [...vouchers.values()].flatMap(({ voucher }) => voucher?.id ?? []);
  if (session?.key === undefined || voucherIds.length === 0) return undefined;
  return takeSession(deps, call, { sessionKey: session.key, voucherIds });
}
