export {
  batchCall,
  type Call,
  type Caller,
  timeContextOf,
  serviceCall,
  type ProjectContext,
  REQUEST_DEADLINE_MS,
} from "./call.ts";
export { type Client, clientOf, invoke } from "./client.ts";
export { type CoalescerOptions, createCoalescer } from "./coalescer.ts";
export { createDirectTransport } from "./direct-transport.ts";
export { createServiceTransport } from "./grpc-transport.ts";
export {
  type ProcessTools,
  readDatabaseConfig,
  readServiceKeys,
  runProcess,
  transportTo,
} from "./process.ts";
export { type Reservation, reservedOrNewId } from "./reserved-object.ts";
export { runUntilStopped } from "./run-until-stopped.ts";
export { startPeriodicJob } from "./periodic-job.ts";
export { serve, type RpcServer } from "./serve.ts";
export {
  type Handler,
  type Handlers,
  implement,
  type Implementation,
  type Service,
} from "./service.ts";
export {
  createTokenSource,
  createTokenVerifier,
  generateServiceKey,
  type ServiceKeys,
} from "./service-token.ts";
export { runInterleaved, mapInterleaved } from "./interleave.ts";
