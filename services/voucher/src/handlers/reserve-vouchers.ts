import { instantFromProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import type {
  RedemptionService,
  ReservationCommand,
  ReservationOutcome,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import { type Contention, createContention } from "../batch/contention.ts";
import { sortRowKeys } from "../batch/lock-rows.ts";
import { runLocked, retryItemsSeparately } from "../batch/locked-batch.ts";
import { buildError } from "../commit/build-rejections.ts";
import { requireNow } from "../commit/parse-command.ts";
import type { Deps } from "../deps.ts";
import {
  decideReservations,
  isLimited,
  sessionLocksOf,
  type ReserveCommand,
  type ReserveDecision,
} from "../domain/reservation.ts";
import { rowKey } from "../domain/usage.ts";
import { loadSessionLocks } from "../loading/session-locks.ts";
import {
  deleteSessions,
  insertReservations,
  markReserved,
  type NewReservation,
  type ReleasedVoucher,
} from "../store/reservations.ts";

/** Expired sessions are deleted some days later, because a sandbox project may have another clock. */
const KEPT_MS = 7 * 86_400_000;

/**
 * Locks vouchers for sessions (docs/sessions.md#locks). Decides under the row locks of the vouchers, so that only
 * one of two sessions gets the last redemption. Repeating a request replaces the session's locks by the same.
 */
export const reserveVouchers = (
  deps: Deps,
): Handler<typeof RedemptionService.method.reserveVouchers> => {
  const context = { deps, db: deps.db, contention: createContention() };
  return async (request) => {
    const commands = request.commands.map(parse);
    await deps.definitions.load(deps.db, commands.flatMap(definitionsOf));
    const outcomes = await retryItemsSeparately(commands, {
      run: (some) => reserve(context, some),
      reject: ({ message }, cause) => {
        deps.onError(new Error("a session could not be stored", { cause }));
        return rejectedOutcome(buildError("internal_error", message.requestId, undefined));
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
  if (expiresAt === undefined) throw new Error("a session has no expiration");
  return {
    message,
    projectId,
    sessionKey,
    at: instantFromProto(requireNow(message)),
    expiresAt: instantFromProto(expiresAt),
    reservations,
  };
}

const definitionsOf = ({ projectId, reservations }: Command) =>
  reservations.map(({ voucherId: id, definitionVersion: version }) => ({ projectId, id, version }));

function reserve(
  context: Context,
  commands: readonly Command[],
): Promise<readonly ReservationOutcome[]> {
  const vouchers = commands.flatMap(({ projectId, reservations }) =>
    reservations.map(({ voucherId }) => ({ projectId, voucherId })),
  );
  return runLocked(context, {
    keys: sortRowKeys(vouchers),
    work: async (tx, lock) => {
      const { usages, lockedByOthers } = await lock();
      const locks = await loadSessionLocks(tx, usages, commands);
      const decisions = decideReservations({ commands, usages, lockedByOthers, locks });
      const reserved = commands.filter((_, position) => decisions[position]?.kind === "reserved");
      const before = await store(tx, reserved, (projectId, voucherId) => {
        const usage = usages.get(rowKey(projectId, voucherId));
        return usage !== undefined && isLimited(usage);
      });
      return decisions.map((decision, position) =>
        toOutcome(commands[position], decision, { context, before }),
      );
    },
  });
}

/** Stores the last command of each session, and returns what the sessions held before. */
async function store(
  tx: Queryable,
  reserved: readonly Command[],
  isLimitedVoucher: (projectId: string, voucherId: string) => boolean,
): Promise<readonly ReleasedVoucher[]> {
  if (reserved.length === 0) return [];
  const last = new Map(reserved.map((one) => [rowKey(one.projectId, one.sessionKey), one]));
  const sessions = [...last.values()];
  const rows = sessions.flatMap((command): NewReservation[] =>
    sessionLocksOf(command).map((lock) => ({
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
  { context, before }: { readonly context: Context; readonly before: readonly ReleasedVoucher[] },
): ReservationOutcome {
  if (command === undefined) throw new Error("a decision has no command");
  const { deps } = context;
  const { projectId, sessionKey, reservations, message } = command;
  const codeAt = (position: number): string => {
    const id = reservations[position]?.voucherId ?? "";
    return deps.definitions.byId(projectId, id)?.definition.code ?? id;
  };
  switch (decision.kind) {
    case "reserved":
      return reservationOutcome({
        case: "reserved",
        value: {
          $typeName: "scrip.voucher.v1.ReservedVouchers",
          releasedVoucherIds: before.flatMap((earlier) =>
            earlier.projectId === projectId &&
            earlier.sessionKey === sessionKey &&
            reservations.every(({ voucherId }) => voucherId !== earlier.voucherId)
              ? earlier.voucherId
              : [],
          ),
        },
      });
    case "stale":
      return reservationOutcome({
        case: "stale",
        value: { $typeName: "scrip.voucher.v1.StaleDecision", conflicts: [] },
      });
    case "locked": {
      const details = `Voucher ${codeAt(decision.position)} is locked by another request; try again`;
      return rejectedOutcome(buildError("service_unavailable", message.requestId, details));
    }
    case "rejected":
      return rejectedOutcome(
        buildError(decision.key, message.requestId, codeAt(decision.position)),
      );
    default:
      return decision satisfies never;
  }
}

const rejectedOutcome = (error: ReturnType<typeof buildError>): ReservationOutcome =>
  reservationOutcome({ case: "rejected", value: error });

const reservationOutcome = (outcome: ReservationOutcome["outcome"]): ReservationOutcome => ({
  $typeName: "scrip.voucher.v1.ReservationOutcome",
  outcome,
});
