export {
  type Admission,
  type Admitted,
  createAdmission,
  LIGHT_WORK,
} from "./admission/admission.ts";
export {
  type AdmissionSettings,
  DEFAULT_ADMISSION,
  readAdmissionSettings,
} from "./admission/settings.ts";
export type {
  CodeGuessing,
  CodeGuessingSettings,
  CodeRequest,
  GuesserNotice,
  ReportClaim,
  SharedGuessing,
} from "./code-guessing/code-guessing.ts";
export { type CodeLookups, codeLookupsOf } from "./code-guessing/code-lookups.ts";
export {
  CodeGuesserBlocked,
  countMisses,
  namedIn,
  rejectGuesser,
} from "./code-guessing/count-misses.ts";
export { shareDefinitions } from "./process/share-definitions.ts";
export { type RecordHit, startCodeGuessing } from "./code-guessing/reports.ts";
export { readCodeGuessingSettings } from "./code-guessing/settings.ts";
export { createLane, type Lane } from "./admission/lane.ts";
export { isOverloadError } from "./admission/overload-errors.ts";
export { decisionWork, showsOrders } from "./admission/work.ts";
export {
  batchCall,
  type Call,
  type Caller,
  type RequestIdempotency,
  stepCall,
  timeContextOf,
  serviceCall,
  type ProjectContext,
  REQUEST_DEADLINE_MS,
} from "./call/call.ts";
export type { FindProject, ProjectQuery, ProjectState } from "./call/find-project.ts";
export { type CallOrigin, neededOriginOf } from "./call/call-origin.ts";
export { chunksOf } from "./call/chunks-of.ts";
export { ownCall } from "./call/own-call.ts";
export { type Client, clientOf, invoke } from "./call/client.ts";
export { type CallCoalescerOptions, createCallCoalescer } from "./concurrency/call-coalescer.ts";
export { createCoalescer } from "./concurrency/coalescer.ts";
export { orIfUnimplemented } from "./call/unimplemented.ts";
export { createDirectTransport } from "./transport/direct-transport.ts";
export { createCallees } from "./transport/callees.ts";
export { createServiceTransport } from "./transport/grpc-transport.ts";
export { followTls, readTlsFiles, type TlsFiles } from "./auth/tls.ts";
export { type ProcessTools, readCalleeUrls, runProcess } from "./process/process.ts";
export { type Reservation, reservedOrNewId } from "./call/reserved-object.ts";
export { measureCalls } from "./process/measure-calls.ts";
export { runUntilStopped } from "./process/run-until-stopped.ts";
export { startExpiryJob } from "./process/expiry-job.ts";
export { followClock } from "./process/follow-clock.ts";
export { pause, startBatchJob, startPeriodicJob, startWokenJob } from "./process/periodic-job.ts";
export {
  createReadiness,
  type ReadinessCheck,
  sharedCheck,
  type UnreadyReason,
} from "./server/readiness.ts";
export { checkHealth } from "./server/health.ts";
export {
  DEFAULT_RETENTION,
  eventRetention,
  outboxRetention,
  readRetention,
  type Retention,
} from "./process/retention.ts";
export { serve, type RpcServer } from "./server/serve.ts";
export {
  type Handler,
  type Handlers,
  implement,
  type Implementation,
  type Callers,
  type ReplicatingService,
  type Service,
} from "./server/service.ts";
export { followServiceKeys, readServiceKeys, type ServiceKeySources } from "./auth/service-keys.ts";
export {
  createTokenSource,
  createTokenVerifier,
  generateServiceKey,
  type ServiceKeys,
} from "./auth/service-token.ts";
export {
  mapInterleaved,
  runInterleaved,
  runInterleavedLater,
  UNLIMITED,
  yieldToArrivals,
} from "./concurrency/interleave.ts";
