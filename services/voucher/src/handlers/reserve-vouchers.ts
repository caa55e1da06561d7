import { instantFromProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import type {
  RedemptionService,
  ReservationCommand,
  ReservationOutcome,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { namesOf } from "../batch/lock-rows.ts";
import { runLocked, takeApart } from "../batch/locked-batch.ts";
import { errorOf } from "../commit/build-rejections.ts";
import { nowOf } from "../commit/parse-command.ts";
import type { Deps } from "../deps.ts";
import {
  decideReservations,
  isLimited,
  locksOf,
  type ReserveCommand,
  type ReserveDecision,
} from "../domain/reservation.ts";
import { rowKey } from "../domain/usage.ts";
import { gatherLocks } from "../loading/session-locks.ts";
import {
  deleteSessions,
  insertReservations,
  markReserved,
  type NewReservation,
  type SessionVoucher,
} from "../store/reservations.ts";

/** A session that has expired is forgotten some days later; a sandbox may have another clock. */
const KEPT_MS = 7 * 86_400_000;

/**
 * Locks what validations promised: checks and holds under the locks of the vouchers, so that of two
 * sessions that want the last use one gets it. A repeat replaces what the session held by the same.
 */
export const reserveVouchers = (
  deps: Deps,
): Handler<typeof RedemptionService.method.reserveVouchers> => {
  const context = { deps, db: deps.db, contention: createContention() };
  return async (request) => {
    const commands = request.commands.map(parse);
    await deps.templates.load(deps.db, commands.flatMap(wantedBy));
    const outcomes = await takeApart(commands, {
      run: (some) => reserve(context, some),
      refuse: ({ message }, cause) => {
        deps.onError(new Error("a session could not be stored", { cause }));
        return refused(errorOf("internal_error", message.requestId, undefined));
      },
    });
    return {
      $typeName: "scrip.voucher.v1.ReserveVouchersResponse",
      outcomes: [...outcomes],
    };
  };
};

type Context = {
  readonly deps: Deps;
  readonly db: Deps["db"];
  readonly contention: Contention;
};

type Command = ReserveCommand & {
  readonly message: ReservationCommand;
  readonly at: number;
  readonly expiresAt: number;
};

function parse(message: ReservationCommand): Command {
  const { projectId, sessionKey, reservations, expiresAt } = message;
  if (expiresAt === undefined) throw new Error("a session without its end");
  return {
    message,
    projectId,
    sessionKey,
    at: instantFromProto(nowOf(message)),
    expiresAt: instantFromProto(expiresAt),
    reservations,
  };
}

const wantedBy = ({ projectId, reservations }: Command) =>
  reservations.map(({ voucherId: id, definitionVersion: version }) => ({ projectId, id, version }));

function reserve(
  context: Context,
  commands: readonly Command[],
): Promise<readonly ReservationOutcome[]> {
  const vouchers = commands.flatMap(({ projectId, reservations }) =>
    reservations.map(({ voucherId }) => ({ projectId, voucherId })),
  );
  return runLocked(context, {
    names: namesOf(vouchers),
    work: async (tx, lock) => {
      const { usages, held } = await lock();
      const locks = await gatherLocks(tx, usages, commands);
      const decisions = decideReservations({ commands, usages, held, locks });
      const made = commands.filter((_, position) => decisions[position]?.kind === "reserved");
      const before = await store(tx, made, (projectId, voucherId) => {
        const usage = usages.get(rowKey(projectId, voucherId));
        return usage !== undefined && isLimited(usage);
      });
      return decisions.map((decision, position) =>
        toOutcome(commands[position], decision, { context, before }),
      );
    },
  });
}

/** Of several commands of one session the last says what it holds. Answers what the sessions held before. */
async function store(
  tx: Queryable,
  made: readonly Command[],
  isLimitedVoucher: (projectId: string, voucherId: string) => boolean,
): Promise<readonly SessionVoucher[]> {
  if (made.length === 0) return [];
  const last = new Map(made.map((one) => [rowKey(one.projectId, one.sessionKey), one]));
  const sessions = [...last.values()];
  const rows = sessions.flatMap((command): NewReservation[] =>
    locksOf(command).map((lock) => ({
      ...lock,
      expiresAt: command.expiresAt,
      keptMs: Math.max(0, command.expiresAt - command.at) + KEPT_MS,
    })),
  );
  const limited = rows.filter(({ projectId, voucherId }) => isLimitedVoucher(projectId, voucherId));
  const [before] = await Promise.all([
    deleteSessions(tx, sessions),
    insertReservations(tx, rows),
    markReserved(tx, [
      ...new Map(limited.map((row) => [rowKey(row.projectId, row.voucherId), row])).values(),
    ]),
  ]);
  return before;
}

function toOutcome(
  command: Command | undefined,
  decision: ReserveDecision,
  { context, before }: { readonly context: Context; readonly before: readonly SessionVoucher[] },
): ReservationOutcome {
  if (command === undefined) throw new Error("a decision without its command");
  const { deps } = context;
  const { projectId, sessionKey, reservations, message } = command;
  const codeAt = (position: number): string => {
    const id = reservations[position]?.voucherId ?? "";
    return deps.templates.byId(projectId, id)?.definition.code ?? id;
  };
  switch (decision.kind) {
    case "reserved":
      return outcomeOf({
        case: "reserved",
        value: {
          $typeName: "scrip.voucher.v1.ReservedVouchers",
          releasedVoucherIds: before.flatMap((held) =>
            held.projectId === projectId &&
            held.sessionKey === sessionKey &&
            reservations.every(({ voucherId }) => voucherId !== held.voucherId)
              ? held.voucherId
              : [],
          ),
        },
      });
    case "stale":
      return outcomeOf({
        case: "stale",
        value: { $typeName: "scrip.voucher.v1.StaleDecision", conflicts: [] },
      });
    case "held": {
      const details = `Voucher ${codeAt(decision.position)} is held by something else; try again`;
      return refused(errorOf("service_unavailable", message.requestId, details));
    }
    case "refused":
      return refused(errorOf(decision.key, message.requestId, codeAt(decision.position)));
    default:
      return decision satisfies never;
  }
}

const refused = (error: ReturnType<typeof errorOf>): ReservationOutcome =>
  outcomeOf({ case: "rejected", value: error });

const outcomeOf = (outcome: ReservationOutcome["outcome"]): ReservationOutcome => ({
  $typeName: "scrip.voucher.v1.ReservationOutcome",
  outcome,
});
