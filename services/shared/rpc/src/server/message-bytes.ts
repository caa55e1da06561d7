import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

import type { ConnectError } from "@connectrpc/connect";
import { ApiError, toConnectError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

const MIB = 1024 * 1024;
/** Bytes of the messages in progress, of one caller and of all. */
const MAX_BYTES = { ofCaller: 64 * MIB, total: 256 * MIB };

export type MessageBytes = (caller: {
  readonly name: string;
  readonly internal: boolean;
}) => CallBytes;

/** The bytes of the message of one call. */
export type CallBytes = {
  /** Throws beyond a bound. */
  readonly add: (bytes: number) => void;
  /** Call this once, when the response has ended. */
  readonly release: () => void;
};

/** Bounds the memory that callers fill with messages, finished or not. */
export function createMessageBytes(): MessageBytes {
  const ofCallers = new Map<string, number>();
  let total = 0;
  const add = (caller: string, bytes: number): number => {
    const own = (ofCallers.get(caller) ?? 0) + bytes;
    if (own === 0) ofCallers.delete(caller);
    else ofCallers.set(caller, own);
    total += bytes;
    return own;
  };
  return ({ name, internal }) => {
    // An external caller may have the name of a service of Scrip.
    const caller = `${internal}\n${name}`;
    let counted = 0;
    return {
      add(bytes) {
        counted += bytes;
        const own = add(caller, bytes);
        if (own > MAX_BYTES.ofCaller && !internal) throw rejection(CALLER_FULL);
        if (own > MAX_BYTES.ofCaller || total > MAX_BYTES.total) throw rejection(PROCESS_FULL);
      },
      release: () => void add(caller, -counted),
    };
  };
}

/** Counts the body of a request as it is read, until the response has ended. */
export function countBody(
  bytes: CallBytes,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): void {
  const read = request[Symbol.asyncIterator].bind(request);
  request[Symbol.asyncIterator] = async function* counting(): AsyncGenerator<unknown, undefined> {
    for await (const chunk of { [Symbol.asyncIterator]: read }) {
      bytes.add((chunk as Buffer).length);
      yield chunk;
    }
    return undefined;
  };
  response.once("close", bytes.release);
}

const rejection = (error: ApiError): ConnectError => toConnectError(error, newRequestId());

const CALLER_FULL = new ApiError("too_many_requests", {
  details: "Too many bytes of this caller's calls in progress; try again",
});
const PROCESS_FULL = new ApiError("service_unavailable", {
  details: "Too many bytes of calls in progress; try again",
});
