import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

import type { CompileContext, MessageCheck, Resolve } from "./check-context.ts";
import { compileField } from "./check-field.ts";
import { toDetails } from "./violation.ts";

/** Returns the details of the first violation, or undefined. */
export type Check = (message: Message) => string | undefined;

export type CheckOptions = {
  /**
   * The message was decoded from JSON: reader and decoder have already rejected unsafe text, deep
   * structures, unsafe integers and unknown enum values.
   */
  readonly fromJson?: boolean;
};

/**
 * Compiles the `rule` options of a message into a check. Fields without rules are skipped, so that
 * a check costs as much as its rules.
 */
export function compileCheck(desc: DescMessage, options: CheckOptions = {}): Check {
  const compiled = new Map<DescMessage, MessageCheck | undefined>();
  const resolve: Resolve = (message) => {
    if (compiled.has(message)) return compiled.get(message);
    // A recursive message finds this entry while its own check is being compiled.
    compiled.set(message, (value) => compiled.get(message)?.(value));
    const check = compileMessage(message, { resolve, strict: options.fromJson !== true });
    compiled.set(message, check);
    return check;
  };
  const check = resolve(desc);
  if (check === undefined) return passes;
  return (message) => {
    const violation = check(message);
    return violation === undefined ? undefined : toDetails(violation);
  };
}

const passes: Check = () => undefined;

function compileMessage(desc: DescMessage, context: CompileContext): MessageCheck | undefined {
  const checks = desc.fields
    .map((field) => compileMember(field, context))
    .filter((check) => check !== undefined);
  if (checks.length === 0) return undefined;
  return (message) => {
    for (const check of checks) {
      const violation = check(message);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };
}

function compileMember(field: DescField, context: CompileContext): MessageCheck | undefined {
  const check = compileField(field, context);
  if (check === undefined) return undefined;
  const { oneof, localName } = field;
  if (oneof === undefined) return (message) => check(message[localName]);
  return (message) => {
    const group = message[oneof.localName] as { case?: string; value?: unknown };
    return group.case === localName ? check(group.value) : undefined;
  };
}
