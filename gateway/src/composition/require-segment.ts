import { ruleOf } from "@scrip/contract";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileStep, MessageFields } from "./step.ts";

/** Campaign, which owns referral tiers, must not call the service that owns segments. */
export const requireSegmentStep: CompileStep = ({ rpc }, { segments }) => {
  const field = rpc.input.fields.find(
    (each) => ruleOf(each).reference === Reference.SEGMENT,
  )?.localName;
  if (field === undefined || segments === undefined) return undefined;
  return (next) => async (message, call) => {
    const id = (message as MessageFields)[field];
    if (typeof id === "string") await segments.follow(id, call);
    return next(message, call);
  };
};
