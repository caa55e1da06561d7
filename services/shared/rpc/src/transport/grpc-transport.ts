import { ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { callKey } from "../call/call.ts";
import { REPLAYED_HEADER, toHeaders } from "../call/headers.ts";

/** Fits lists of vouchers with their orders; Connect's default is 4 GiB. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export type ServiceTransportOptions = {
  readonly baseUrl: string;
  /** The name of the called service: the audience of the service token. */
  readonly audience: string;
  readonly token: (audience: string) => Promise<string>;
};

/** gRPC over HTTP/2 to one service, with the call in the headers and a service token. */
export function createServiceTransport(options: ServiceTransportOptions): Transport {
  const context: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${await options.token(options.audience)}`);
    const call = request.contextValues.get(callKey);
    if (call !== undefined)
      toHeaders(call).forEach((value, name) => request.header.set(name, value));
    const noticeReplay = (headers: Headers): void => {
      if (headers.get(REPLAYED_HEADER) !== null) call?.onReplay?.();
    };
    try {
      const response = await next(request);
      noticeReplay(response.header);
      return response;
    } catch (error) {
      // A rejection may be a replay as well.
      if (error instanceof ConnectError) noticeReplay(error.metadata);
      throw error;
    }
  };
  return createGrpcTransport({
    baseUrl: options.baseUrl,
    interceptors: [context],
    readMaxBytes: MAX_MESSAGE_BYTES,
    // Within a cluster, latency matters more than bandwidth.
    acceptCompression: [],
    pingIntervalMs: 10_000,
    pingTimeoutMs: 3_000,
  });
}
