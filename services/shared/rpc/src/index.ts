export {
  batchCall,
  type Call,
  type Caller,
  momentOf,
  ownCall,
  type ProjectContext,
  REQUEST_DEADLINE_MS,
} from "./call.ts";
export { type Client, clientOf, invoke } from "./client.ts";
export { type CoalescerOptions, createCoalescer } from "./coalesce.ts";
export { createDirectTransport } from "./direct-transport.ts";
export { createServiceTransport } from "./grpc-transport.ts";
export {
  type ProcessTools,
  readDatabaseConfig,
  readServiceKeys,
  runProcess,
  transportTo,
} from "./process.ts";
export { type Reservation, takeId } from "./reserved-object.ts";
export { runUntilStopped } from "./run-until-stopped.ts";
export { startRepeating } from "./repeat.ts";
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
export { inTurns, mapInTurns } from "./turns.ts";
