import type { Deps } from "../deps.ts";
import type { AnyJobDefinition } from "./job-definition.ts";

/** All types of jobs. */
export const createJobDefinitions = (_deps: Deps): readonly AnyJobDefinition[] => [];
