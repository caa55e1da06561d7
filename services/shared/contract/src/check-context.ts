import type { DescMessage } from "@bufbuild/protobuf";

import type { Violation } from "./violation.ts";

/** A message by its field names, as checks compiled from descriptors read it. */
export type Fields = Readonly<Record<string, unknown>>;

export type MessageCheck = (message: Fields) => Violation | undefined;

/** Finds the check of another message; undefined when that message has no rules. */
export type Resolve = (desc: DescMessage) => MessageCheck | undefined;

export type CompileContext = {
  readonly resolve: Resolve;
  /** Also check what the JSON decoder rejects. */
  readonly strict: boolean;
};
