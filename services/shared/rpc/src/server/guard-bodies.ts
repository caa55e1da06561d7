import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

import type { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { toConnectError } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

import type { ServiceClaims } from "../auth/service-token.ts";
import { createMessageBytes } from "./message-bytes.ts";

type Handle = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
type Verify = (authorization: string | null) => Promise<ServiceClaims>;

/** Messages of the services that need no token are small. */
export const OPEN_SERVICE_LIMITS = { readMaxBytes: 16 * 1024 };

type Refusal = {
  readonly service: string;
  readonly method: string;
  readonly requestId: string;
  readonly error: unknown;
};

/** The longest deadline that a service accepts. */
const BODY_TIMEOUT_MS = 10_000;

/**
 * Connect reads the whole message before it calls a handler, so anyone could fill the memory with unfinished
 * messages. A call without a valid token is therefore refused before its body is read, and a body that does
 * not arrive in time ends its stream. The bytes of a caller's calls in progress are bounded. `verifierOf` returns undefined for RPCs that need no
 * token, and for unknown ones.
 */
export function guardBodies(
  handle: Handle,
  {
    verifierOf,
    onRefusal,
  }: {
    /** By the path of the RPC; `onRefusal` gets only such paths. */
    readonly verifierOf: (path: string) => Verify | undefined;
    readonly onRefusal: (refusal: Refusal) => void;
  },
): Handle {
  const messageBytes = createMessageBytes();
  return (request, response) => {
    const verify = verifierOf(request.url);
    if (verify === undefined) {
      handle(request, response);
      return;
    }
    const timer = setTimeout(
      () => request.stream.close(constants.NGHTTP2_CANCEL),
      BODY_TIMEOUT_MS,
    ).unref();
    const stop = (): void => clearTimeout(timer);
    request.once("end", stop).once("close", stop);
    const handleCounted = (claims: ServiceClaims): void => {
      messageBytes.count(claims, request, response);
      handle(request, response);
    };
    verify(request.headers.authorization ?? null).then(handleCounted, (error: unknown) => {
      const requestId = newRequestId();
      const [, service = "", method = ""] = request.url.split("/", 3);
      onRefusal({ service, method, requestId, error });
      refuse(response, toConnectError(error, requestId));
    });
  };
}

function refuse({ stream }: Http2ServerResponse, error: ConnectError): void {
  if (stream.destroyed || stream.closed) return;
  const trailers = new Headers();
  setTrailerStatus(trailers, error);
  const headers = { ":status": 200, "content-type": "application/grpc+proto" };
  stream.respond({ ...headers, ...Object.fromEntries(trailers) }, { endStream: true });
  // The caller may still send: nothing more is read.
  stream.close(constants.NGHTTP2_NO_ERROR);
}
