import type { DescMethod, DescMethodUnary, DescService, MessageShape } from "@bufbuild/protobuf";

import type { Call } from "./call.ts";

/**
 * An RPC as its service implements it. It answers a whole message (with `$typeName`): in one process
 * the caller gets this very object. Messages are read-only once sent.
 */
export type Handler<Method extends DescMethod> =
  Method extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageShape<O>>
    : never;

/** One handler for each RPC: the compiler misses none. */
export type Handlers<Desc extends DescService> = {
  readonly [Name in keyof Desc["method"]]: Handler<Desc["method"][Name]>;
};

export type Implementation = {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, UntypedHandler>>;
};

// What a transport knows of a handler; `implement` has checked it against the descriptor.
export type UntypedHandler = (request: never, call: Call) => Promise<unknown>;

export function implement<Desc extends DescService>(
  service: Desc,
  handlers: Handlers<Desc>,
): Implementation {
  return { service, handlers };
}

/** What each service exports for a composition to mount: its RPCs and its background loops. */
export type Service = AsyncDisposable & {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  /** Answers whether the service can work: its database is there and its schema is right. */
  readonly ready: () => Promise<boolean>;
};
