import type { Message } from "@bufbuild/protobuf";

/** Longer than a lookup takes, and well below the deadline of a request. */
const COMPLETE_MS = 2_000;

/**
 * The call took effect, so its response must be sent: when referenced objects cannot be loaded, the
 * response is sent without them.
 */
export async function completeOrFallBack(
  completing: Promise<Message>,
  response: Message,
  report: (error: unknown) => void,
): Promise<Message> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("timeout")), COMPLETE_MS);
  try {
    return await Promise.race([completing, timeout]);
  } catch (cause) {
    report(new Error("a response was sent without the objects it refers to", { cause }));
    // A copy marks the response as changed, so that it is stored for replays as it was sent.
    return { ...response };
  } finally {
    clearTimeout(timer);
  }
}
