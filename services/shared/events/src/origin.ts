import type { EventEnvelope } from "./bus.ts";

/** Who sent the request: an API key, or a service of Scrip. */
export type OriginCaller = {
  readonly side: "server" | "client" | "management" | "service";
  /** The application id of the key, or the name of the service. */
  readonly id: string;
  /** The name of the key; absent in calls of processes of an earlier release. */
  readonly name?: string | undefined;
};

/** The request that caused an event, directly or through other events. Calls of RPCs have this type. */
export type Origin = {
  /** `v-…`; absent for what a service does by itself. */
  readonly requestId?: string | undefined;
  readonly caller: OriginCaller;
  /** The caller of the request, when a service makes the call because of it. */
  readonly initiator?: OriginCaller | undefined;
  /** The project as the request saw it: events of its changes may arrive after those of the request. */
  readonly project?: { readonly version?: bigint | undefined } | undefined;
};

/** What a service does by itself, such as points that expire. */
export const INTERNAL: Origin = { caller: { side: "service", id: "" } };

const REQUEST_ID = "request-id";
const CALLER = "caller";
const CALLER_NAME = "caller-name";
const PROJECT_VERSION = "project-version";

/** The headers of an event, besides `traceparent`. */
export const originHeaders = ({
  requestId,
  caller,
  initiator = caller,
  project,
}: Origin): Readonly<Record<string, string>> => ({
  ...(requestId !== undefined && { [REQUEST_ID]: requestId }),
  [CALLER]: `${initiator.side}:${initiator.id}`,
  ...(initiator.name !== undefined && { [CALLER_NAME]: initiator.name }),
  ...(project?.version !== undefined && { [PROJECT_VERSION]: String(project.version) }),
});

/** The headers of an event as the outbox stores them, in JSON; null without any. */
export function storedHeaders(
  traceparent: string | undefined,
  origin: Origin | undefined,
): string | null {
  if (traceparent === undefined && origin === undefined) return null;
  return JSON.stringify({
    ...(traceparent !== undefined && { traceparent }),
    ...(origin !== undefined && originHeaders(origin)),
  });
}

/** Undefined for events without an origin: those of an earlier release, and redemptions of projects that do not need it. */
export function originOf({ headers }: Pick<EventEnvelope, "headers">): Origin | undefined {
  const { [REQUEST_ID]: requestId, [CALLER]: text, [CALLER_NAME]: name } = headers;
  const [, side, id = ""] = /^(server|client|management|service):(.*)$/.exec(text ?? "") ?? [];
  if (side === undefined) return undefined;
  const version = projectVersionOf({ headers });
  return {
    ...(requestId !== undefined && { requestId }),
    caller: { side: side as OriginCaller["side"], id, ...(name !== undefined && { name }) },
    ...(version !== undefined && { project: { version } }),
  };
}

const VERSION = /^\d{1,18}$/;

/** The version of the project that the request of an event has seen; undefined for events without one. */
export function projectVersionOf({
  headers: { [PROJECT_VERSION]: text = "" },
}: Pick<EventEnvelope, "headers">): bigint | undefined {
  return VERSION.test(text) ? BigInt(text) : undefined;
}

/** An origin as a table keeps it for events that are written later, in JSON; null without one. */
export const originToStored = (origin: Origin | undefined): string | null =>
  storedHeaders(undefined, origin);

export const originFromStored = (stored: EventEnvelope["headers"] | null): Origin | undefined =>
  stored === null ? undefined : originOf({ headers: stored });

/** The `event_source` of webhooks and pending points. */
export type EventSource = {
  readonly channel: "API" | "CLIENT_API" | "INTERNAL";
  readonly api_key: { readonly name: string | null; readonly app_id: string } | null;
};

const CHANNELS = {
  server: "API",
  client: "CLIENT_API",
  management: "API",
  service: "INTERNAL",
} as const;

export const eventSourceOf = ({ caller: { side, id, name } }: Origin): EventSource => ({
  channel: CHANNELS[side],
  api_key: side === "server" || side === "client" ? { name: name ?? null, app_id: id } : null,
});
