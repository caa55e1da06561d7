import {
  capacityViolation,
  type CodeConfig,
  type CodeMask,
  entropyBitsOf,
  mergeCodeConfig,
  normalize,
  parseCodeConfig,
} from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import type { CodeConfig as CodeConfigMessage } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Campaign, CodeSettings } from "../domain/campaign.ts";

/** The code settings of a new campaign: the requested ones over those of the project, stored complete. */
export const campaignCodeConfig = (
  requested: CodeConfigMessage | undefined,
  call: Call,
): CodeSettings => resolveCodeConfig(projectCodeConfig(call), requested, call);

/** The code settings of one voucher: the requested ones over those of its campaign. */
export function voucherCodeConfig(
  campaign: Campaign,
  requested: CodeConfigMessage | undefined,
  call: Call,
) {
  const defaults = campaign.voucher?.codeConfig ?? {};
  const { length, ...settings } = resolveCodeConfig(defaults, requested, call);
  return { length: BigInt(length), ...settings };
}

const projectCodeConfig = ({ project }: Call): CodeConfig =>
  project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);

function resolveCodeConfig(
  defaults: CodeConfig,
  requested: CodeConfigMessage | undefined,
  { project }: Call,
): CodeSettings {
  const config = mergeCodeConfig(defaults, {
    ...(requested?.length !== undefined && { length: Number(requested.length) }),
    ...(requested?.charset !== undefined && { charset: requested.charset }),
    ...(requested?.pattern !== undefined && { pattern: requested.pattern }),
    ...(requested?.prefix !== undefined && { prefix: requested.prefix }),
    ...(requested?.postfix !== undefined && { postfix: requested.postfix }),
  });
  return normalize(config, requireMask(config, project));
}

/** Rejects settings that have fewer codes than the request needs, before anything is written. */
export function requireCodeCapacity(
  settings: CodeConfig,
  requested: number | bigint,
  { project }: Call,
): void {
  const violation = capacityViolation(requireMask(settings, project), BigInt(requested));
  if (violation !== null) throw new ApiError("invalid_code_config", { details: violation });
}

/** The settings as responses show them, with the entropy of their codes in this project. */
export const codeSettingsToProto = (
  { length, ...settings }: CodeSettings,
  project: Call["project"],
) => ({
  ...settings,
  length: BigInt(length),
  entropyBits: String(entropyBitsOf(requireMask({ length, ...settings }, project))),
});

export function requireMask(config: CodeConfig, { caseSensitiveCodes }: Call["project"]): CodeMask {
  const parsed = parseCodeConfig(config, caseSensitiveCodes);
  if (parsed.kind === "mask") return parsed.mask;
  throw new ApiError("invalid_code_config", { details: parsed.text });
}
