import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Binding } from "@scrip/contract";
import { decisionWork } from "@scrip/rpc";

/** Estimates of a request's work, in about milliseconds of processor time. */
export type RequestWork = {
  /** Before the body is read. */
  readonly ofLength: (bytes: number) => number;
  /** Of the decoded request. */
  readonly ofMessage: (message: Message, bytes: number) => number;
};

/** Most redeemables of one decision. */
const REDEEMABLES = 30;
/** Bytes of a short order line. Whether a longer body has many lines shows only when it is decoded. */
const LINE_BYTES = 50;
/** Bytes that take a millisecond to decode, check and store. */
const BYTES_PER_MS = 8 * 1024;
/** Listed objects that take a millisecond to load and encode. */
const LISTED_PER_MS = 5;

/** Compiles the estimate from the shape of the request: an order that is decided on, and a page size. */
export function compileWork({ method: { input, output } }: Binding): RequestWork {
  const lines = linesOf(input);
  const hasRedeemables = input.field["redeemables"]?.fieldKind === "list";
  const hasLimit = input.field["limit"]?.fieldKind === "scalar";
  // A redemption stores the order of each redeemable, so it is written in any case.
  const mayOmitOrders = output.field["redeemables"]?.message?.field["order"] !== undefined;
  const redeemables = hasRedeemables ? REDEEMABLES : 1;
  return {
    ofLength: (bytes) =>
      bytes / BYTES_PER_MS +
      (lines === undefined ? 0 : decisionWork({ redeemables, lines: bytes / LINE_BYTES })),
    ofMessage(message, bytes) {
      const fields = message as Message & Fields;
      const listed = hasLimit ? Number(fields["limit"] ?? 0) : 0;
      const count = hasRedeemables ? (fields["redeemables"] as readonly unknown[]).length : 1;
      return (
        bytes / BYTES_PER_MS +
        listed / LISTED_PER_MS +
        (lines === undefined
          ? 0
          : decisionWork({
              redeemables: count,
              lines: lines(fields),
              expand: mayOmitOrders ? expandOf(fields) : undefined,
            }))
      );
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

const expandOf = (fields: Fields): readonly string[] | undefined =>
  (fields["options"] as { readonly expand?: readonly string[] } | undefined)?.expand;

/** Number of order lines in a request with an order; undefined for other requests. */
function linesOf(input: DescMessage): ((fields: Fields) => number) | undefined {
  if (input.field["order"]?.message?.field["items"]?.fieldKind !== "list") return undefined;
  return (fields) => {
    const order = fields["order"] as { readonly items: readonly unknown[] } | undefined;
    return order?.items.length ?? 0;
  };
}
