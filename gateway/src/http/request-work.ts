import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Binding } from "@scrip/contract";
import { decisionWork } from "@scrip/rpc";

/** Estimates of a request's work, in about milliseconds of processor time. */
export type RequestWork = {
  /** Estimate before the body is read, from its length. */
  readonly ofLength: (bytes: number) => number;
  /** Work of the decoded request; `objectBytes` is the expected size of a listed object. */
  readonly ofMessage: (message: Message, bytes: number, objectBytes: number) => number;
  /** Counts the objects of a response; undefined for requests without a page size. */
  readonly countListed: ((response: Message) => number) | undefined;
};

/** Most redeemables of one decision. */
const REDEEMABLES = 30;
/** Bytes of a short order line. Whether a longer body has many lines shows only when it is decoded. */
const LINE_BYTES = 50;
/** Bytes that take a millisecond to decode, check and store. */
const BYTES_PER_MS = 8 * 1024;
/** Milliseconds to load and encode a small listed object. */
const LISTED_MS = 0.2;
/** Milliseconds per byte of a listed object; they exceed `LISTED_MS` above 3.4 KiB. */
const LISTED_BYTE_MS = 60 / (1024 * 1024);
/** Most lists have this page size unless the request has another. */
const DEFAULT_LIMIT = 10;

/** Compiles the estimate from the shape of the request: an order that is decided on, and a page size. */
export function compileWork({ method: { input, output } }: Binding): RequestWork {
  const lines = linesOf(input);
  const hasRedeemables = input.field["redeemables"]?.fieldKind === "list";
  const countListed = compileCount(input, output);
  // A redemption stores the order of each redeemable, so it is written in any case.
  const mayOmitOrders = output.field["redeemables"]?.message?.field["order"] !== undefined;
  const redeemables = hasRedeemables ? REDEEMABLES : 1;
  return {
    ofLength: (bytes) =>
      bytes / BYTES_PER_MS +
      (lines === undefined ? 0 : decisionWork({ redeemables, lines: bytes / LINE_BYTES })),
    countListed,
    ofMessage(message, bytes, objectBytes) {
      const fields = message as Message & Fields;
      const listed = countListed === undefined ? 0 : Number(fields["limit"] ?? DEFAULT_LIMIT);
      const count = hasRedeemables ? (fields["redeemables"] as readonly unknown[]).length : 1;
      return (
        bytes / BYTES_PER_MS +
        listed * Math.max(LISTED_MS, objectBytes * LISTED_BYTE_MS) +
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

function compileCount(input: DescMessage, output: DescMessage): RequestWork["countListed"] {
  if (input.field["limit"]?.fieldKind !== "scalar") return undefined;
  const list = output.fields.find(
    (field) => field.fieldKind === "list" && field.listKind === "message",
  );
  if (list === undefined) return undefined;
  return (response) =>
    ((response as Message & Fields)[list.localName] as readonly unknown[]).length;
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
