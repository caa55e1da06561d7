import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageShape,
} from "@bufbuild/protobuf";
import type { DefinitionVersions } from "@scrip/postgres";

import type { Call } from "../call/call.ts";
import type { FindProject } from "../call/find-project.ts";
import type { RecordHit } from "../code-guessing/reports.ts";
import type { ReadinessCheck } from "./readiness.ts";

/**
 * The implementation of an RPC. It returns a whole message (with `$typeName`): in one process the
 * caller receives this very object. Messages are read-only once sent. A stream has no deadline: it ends when the caller
 * leaves (`call.signal`).
 */
export type Handler<Method extends DescMethod> =
  Method extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageShape<O>>
    : Method extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: Call) => AsyncIterable<MessageShape<O>>
      : never;

/** One handler per RPC, which the compiler enforces. */
export type Handlers<Desc extends DescService> = {
  readonly [Name in keyof Desc["method"]]: Handler<Desc["method"][Name]>;
};

export type Implementation = {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, UntypedHandler>>;
};

// The handler type that transports expect; `implement` has checked it against the descriptor.
export type UntypedHandler = (request: never, call: Call) => Promise<unknown>;

export function implement<Desc extends DescService>(
  service: Desc,
  handlers: Handlers<Desc>,
): Implementation {
  // Transports know which of them are streams.
  return { service, handlers: handlers as unknown as Implementation["handlers"] };
}

/** What each service exports for a composition to mount: its RPCs and its background jobs. */
export type Service = AsyncDisposable & {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  /** Whether the service can work: its database takes writes. */
  readonly ready: ReadinessCheck;
  /** Absent where no RPC takes codes. */
  readonly recordHit?: RecordHit;
  /** Definitions that each of its processes caches; absent: it caches none. */
  readonly definitions?: DefinitionVersions;
};

/** A service that can be served over gRPC: it knows the projects that callers name. */
export type ReplicatingService = Service & {
  readonly findProject: FindProject;
  readonly callers: Callers;
};

/** The RPCs that a service of Scrip may call, by the name of the caller. It may call no others. */
export type Callers = Readonly<Record<string, readonly DescMethod[]>>;
