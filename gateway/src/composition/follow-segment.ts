import { ruleOf } from "@scrip/contract";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileStep, MessageFields } from "./step.ts";

/**
 * Campaign, which owns referral tiers, must not call the service that owns segments. A rejected tier leaves the segment as
 * it is. A request whose tier is written, but whose segment is not followed yet, fails: its repetition follows the segment.
 */
export const followSegmentStep: CompileStep = ({ rpc }, { segments }) => {
  const field = rpc.input.fields.find(
    (each) => ruleOf(each).reference === Reference.SEGMENT,
  )?.localName;
  if (field === undefined || segments === undefined) return undefined;
  return (next) => async (message, call) => {
    const id = (message as MessageFields)[field];
    if (typeof id !== "string") return next(message, call);
    await segments.require(id, call);
    const response = await next(message, call);
    await segments.follow(id, call);
    return response;
  };
};
