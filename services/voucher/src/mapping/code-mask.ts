import { type CodeConfig, type CodeMask, mergeCodeConfig, parseCodeConfig } from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import type { CodeConfig as CodeConfigMessage } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

/** Merges the code config of the request over the default of the project or campaign. */
export function codeMaskFromProto(
  sent: CodeConfigMessage | undefined,
  { defaults, caseSensitive }: { readonly defaults: CodeConfig; readonly caseSensitive: boolean },
): CodeMask {
  const own: CodeConfig = {
    ...(sent?.length !== undefined && { length: Number(sent.length) }),
    ...(sent?.charset !== undefined && { charset: sent.charset }),
    ...(sent?.pattern !== undefined && { pattern: sent.pattern }),
    ...(sent?.prefix !== undefined && { prefix: sent.prefix }),
    ...(sent?.postfix !== undefined && { postfix: sent.postfix }),
  };
  const parsed = parseCodeConfig(mergeCodeConfig(defaults, own), caseSensitive);
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_code_config", { details: parsed.text });
  }
  return parsed.mask;
}
