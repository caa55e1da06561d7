import { oneCode } from "./f01-one-code.ts";
import { repeatedSpends } from "./f02-repeated-spends.ts";
import { rollingRestart } from "./f03-rolling-restart.ts";
import { eachProcessKilled } from "./f04-each-process-killed.ts";
import { killedCommits } from "./f05-killed-commits.ts";
import { postgresKilled } from "./f06-postgres-killed.ts";
import { postgresAway } from "./f07-postgres-away.ts";
import { postgresHangs } from "./f08-postgres-hangs.ts";
import { connectionsUsedUp } from "./f09-connections-used-up.ts";
import { foreignLock } from "./f10-foreign-lock.ts";
import { brokerAway } from "./f12-broker-away.ts";
import { eventLogAway } from "./f12-event-log-away.ts";
import { brokerKilled } from "./f13-broker-killed.ts";
import { brokerWiped } from "./f14-broker-wiped.ts";
import { repeatedShuffled } from "./f15-repeated-shuffled.ts";
import { processKilled } from "./f16-process-killed.ts";
import { splitLease } from "./f17-split-lease.ts";
import { slowHandler } from "./f18-slow-handler.ts";
import { poison } from "./f19-poison.ts";
import { groupScale } from "./f20-group-scale.ts";
import { redisAway } from "./f21-redis-away.ts";
import { redisSlow } from "./f22-redis-slow.ts";
import { loyaltyAway } from "./f23-loyalty-away.ts";
import { badReplica } from "./f24-bad-replica.ts";
import { slowNetwork } from "./f25-slow-network.ts";
import { halfOpen } from "./f26-half-open.ts";
import { wrongClocks } from "./f27-wrong-clocks.ts";
import { smallHeap } from "./f31-small-heap.ts";
import { blockedEventLoop } from "./f32-blocked-event-loop.ts";
import { overload } from "./f33-overload.ts";
import { hostilePayloads } from "./f36-hostile-payloads.ts";
import { guessedCodes } from "./f38-guessed-codes.ts";
import { slowClients } from "./f39-slow-clients.ts";
import { wrongTokens } from "./f41-wrong-tokens.ts";
import { rollingUpgrade } from "./f45-rolling-upgrade.ts";
import { importKilled } from "./f46-import-killed.ts";
import { soak } from "./f50-soak.ts";
import { idle } from "./f52-idle.ts";
import type { Fault } from "./fault.ts";

/** Faults that tests prove in every run of CI. */
const proven = (
  id: string,
  title: string,
  criterion: string,
  ...tests: readonly string[]
): Fault => ({ id, title, criterion, inEveryRun: true, tests });

/** The plan. */
export const FAULTS: readonly Fault[] = [
  oneCode,
  repeatedSpends,
  rollingRestart,
  eachProcessKilled,
  killedCommits,
  postgresKilled,
  postgresAway,
  postgresHangs,
  connectionsUsedUp,
  foreignLock,
  brokerAway,
  eventLogAway,
  brokerKilled,
  brokerWiped,
  repeatedShuffled,
  processKilled,
  splitLease,
  slowHandler,
  poison,
  groupScale,
  redisAway,
  redisSlow,
  loyaltyAway,
  badReplica,
  slowNetwork,
  halfOpen,
  wrongClocks,
  smallHeap,
  blockedEventLoop,
  overload,
  hostilePayloads,
  guessedCodes,
  slowClients,
  wrongTokens,
  rollingUpgrade,
  importKilled,
  soak,
  idle,
  proven(
    "F11",
    "Stacks of the same vouchers in random order",
    "no deadlock, exact balances",
    "test/e2e/stress-stacks.test.ts",
  ),
  proven(
    "F28",
    "Days and hours at changes of the clock, leap days, ends of months",
    "the answers of a table",
    "services/shared/rules/src/validity/validity.test.ts",
  ),
  proven(
    "F29",
    "The disk of PostgreSQL is full",
    "writes get 503, /readyz fails, and both recover with space",
    "deploy/standalone/test/readiness.test.ts",
  ),
  proven(
    "F30",
    "The folder of exports is full",
    "the export fails and leaves nothing; the next one is stored",
    "services/export/test/local-files.test.ts",
  ),
  proven(
    "F34",
    "Bodies that are too large, endless or compressed",
    "each is rejected before it is read, and others are not blocked",
    "gateway/test/malformed-requests.test.ts",
  ),
  proven(
    "F35",
    "Malformed bodies, paths and headers",
    "each gets an error object, none an internal error",
    "test/e2e/malformed-requests.test.ts",
    "gateway/test/malformed-requests.test.ts",
  ),
  proven(
    "F37",
    "Headers and request lines that are not HTTP",
    "each is rejected, and no request is split",
    "gateway/test/malformed-requests.test.ts",
  ),
  proven(
    "F40",
    "Hostile frames at the gRPC port",
    "the process survives, and later calls work",
    "test/e2e/hostile-frames.test.ts",
  ),
  proven(
    "F41",
    "Wrong tokens and malformed token requests",
    "each is rejected, and callers who guess are blocked",
    "gateway/test/tokens.test.ts",
    "gateway/test/credentials.test.ts",
  ),
  proven(
    "F42",
    "Scopes and tenants",
    "each route has its scope, and no project sees another one",
    "gateway/test/scopes.test.ts",
    "test/e2e/owasp.test.ts",
  ),
  proven(
    "F43",
    "Cells of a CSV file that are formulas",
    "spreadsheets show them as text, and any text is read back",
    "services/shared/exports/src/csv.test.ts",
    "services/export/test/exports.test.ts",
  ),
  proven(
    "F44",
    "A backup under load is restored",
    "all that was acknowledged before it is there, and the books are exact",
    "test/e2e/restore.test.ts",
  ),
  proven(
    "F47",
    "Session locks of many clients",
    "no more is locked than there is",
    "test/e2e/stress-sessions.test.ts",
  ),
  proven(
    "F48",
    "Formulas that are deep, long or large",
    "each is rejected, or evaluated in a bounded number of steps",
    "services/shared/rules/src/formula/formula.test.ts",
  ),
  proven(
    "F49",
    "A customer is erased",
    "no data of the customer is left, and the books are exact",
    "test/e2e/erasure.test.ts",
  ),
  proven(
    "F51",
    "Random commands against a reference model, with kills",
    "the model and the system agree",
    "test/e2e/model.test.ts",
  ),
  proven(
    "HOLDS",
    "A points hold whose redemption never committed",
    "it is released, and never both committed and released",
    "services/voucher/test/release-points-holds.test.ts",
  ),
];
