import type { JsonObject } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { notFound } from "@scrip/errors";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { CompileStep, MessageFields } from "./step.ts";

/** Campaign, which owns referral programs, must not call the service that owns custom events. */
export const completeReferralEventStep: CompileStep = ({ rpc }, { customEvents }) => {
  const field = rpc.input.fields.find(
    (each) => ruleOf(each).reference === Reference.REFERRAL_EVENT,
  )?.localName;
  if (field === undefined || customEvents === undefined) return undefined;
  return (next) => async (message, call) => {
    const program = (message as MessageFields)[field] as JsonObject | undefined;
    const named = program?.["conversion_event_type"] === "custom_event" && program["custom_event"];
    if (typeof named !== "object" || named === null || Array.isArray(named)) {
      return next(message, call);
    }
    const { id = null, name = null } = named;
    // Campaign rejects what is not a text, and an event without both.
    const key = id ?? name;
    if (typeof key !== "string") return next(message, call);
    const schemas = await customEvents.list(call);
    if (id === null && schemas.length === 0) return next(message, call);
    // The id is that of another project when settings are copied; the name is the same.
    const schema =
      schemas.find((each) => each.id === id) ?? schemas.find((each) => each.name === name);
    if (schema === undefined) throw notFound("custom_event_schema", key);
    const event = { id: schema.id, name: schema.name };
    return next(
      { ...(message as MessageFields), [field]: { ...program, custom_event: event } },
      call,
    );
  };
};
