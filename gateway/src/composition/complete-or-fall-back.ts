import type { Message } from "@bufbuild/protobuf";

/** Long enough for a look-up, and short enough for the answer to be in time. */
const COMPLETE_MS = 2_000;

/**
 * The call has been made, and its answer is owed: when what it refers to cannot be looked up, it is
 * answered without.
 */
export async function completeOrFallBack(
  composing: Promise<Message>,
  plain: Message,
  report: (error: unknown) => void,
): Promise<Message> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no look-up in time")), COMPLETE_MS);
  try {
    return await Promise.race([composing, over]);
  } catch (cause) {
    report(new Error("an answer lacks what it refers to", { cause }));
    // A copy, since it is not the whole answer.
    return { ...plain };
  } finally {
    clearTimeout(timer);
  }
}
