import { Code, ConnectError } from "@connectrpc/connect";

/** The response, or during an upgrade what stands for it while the service is of a release that does not have the RPC. */
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
