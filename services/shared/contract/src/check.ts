import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

import type { CompileContext, MessageCheck, Resolve } from "./check-context.ts";
import { compileField } from "./check-field.ts";
import { jsonNameOf } from "./options.ts";
import { toDetails, type Violation } from "./violation.ts";

/** Returns the details of the first violation, or undefined. */
export type Check = (message: Message) => string | undefined;

export type CheckOptions = {
  /**
   * The message was decoded from JSON: reader and decoder have already rejected unsafe text, deep
   * structures, unsafe integers and unknown enum values.
   */
  readonly fromJson?: boolean;
  /** The field that is the whole JSON document, whose name is therefore not part of a path. */
  readonly document?: DescField | undefined;
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
  const { document } = options;
  return (message) => {
    const violation = check(message);
    if (violation === undefined) return undefined;
    return toDetails(document === undefined ? violation : inDocument(violation, document));
  };
}

/** The violation as the sender of a document that is one field sees it. */
function inDocument({ path, text, missing }: Violation, document: DescField): Violation {
  const name = jsonNameOf(document);
  if (path === "" && missing === document)
    return { path, text: "must NOT have fewer than 1 items" };
  const [, inside] = new RegExp(`^\\.${name}(?![\\w])(.*)$`).exec(path) ?? [];
  return inside === undefined ? { path, text } : { path: inside, text };
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
