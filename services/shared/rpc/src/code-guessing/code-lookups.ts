import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { accessOf } from "@scrip/contract";
import type { Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";
import {
  type RedeemableResult,
  RedeemableResultSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";

/** How requests to an RPC name codes; undefined for RPCs that take none. */
export type CodeLookups = {
  /** Number of codes in the response that do not exist. */
  readonly missesIn: (response: Message) => number;
};

export function codeLookupsOf(method: DescMethod): CodeLookups | undefined {
  if (accessOf(method)?.codes !== true) return undefined;
  const lists = resultListsOf(method.output);
  return {
    // What is not applicable may be in two lists, so the longest count is that of the request.
    missesIn: (response) => Math.max(0, ...lists.map((list) => unknownIn(response, list))),
  };
}

function unknownIn(response: Message, { localName }: DescField): number {
  const results = (response as Message & Record<string, unknown>)[localName];
  let unknown = 0;
  for (const { result } of results as readonly RedeemableResult[]) {
    if (result?.error !== undefined && isUnknownCode(result.error)) unknown += 1;
  }
  return unknown;
}

const resultListsOf = (output: DescMessage): readonly DescField[] =>
  output.fields.filter(
    (field) =>
      field.fieldKind === "list" &&
      field.listKind === "message" &&
      field.message.typeName === RedeemableResultSchema.typeName,
  );

/** Codes of other projects are unknown too, in the same lookup and with the same response. */
export const isUnknownCode = ({ key, resourceType }: ErrorMessage): boolean =>
  key === "not_found" && resourceType === "voucher";
