import { Code, ConnectError } from "@connectrpc/connect";

/** Returns the response, or `earlier` when the service is of a release without this RPC. */
export async function orIfUnimplemented<Response, Earlier>(
  response: Promise<Response>,
  earlier: Earlier,
): Promise<Response | Earlier> {
  try {
    return await response;
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unimplemented) return earlier;
    throw error;
  }
}
