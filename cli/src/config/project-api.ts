import { CliError } from "../cli-error.ts";
import { encode } from "../commands/arguments.ts";
import {
  callHttp,
  callManagement,
  type JsonObject,
  listAll,
  requestToken,
  rowsOf,
} from "../http.ts";
import type { Settings } from "../settings.ts";

/** The API of one project, with its API key and the management credentials. */
export type ProjectApi = {
  readonly id: string;
  call(
    method: string,
    path: string,
    body?: JsonObject | readonly JsonObject[],
  ): Promise<JsonObject>;
  manage(method: string, path: string, body?: JsonObject): Promise<JsonObject>;
  /** All pages of a list. */
  listAll(path: string): Promise<readonly JsonObject[]>;
};

/** Checks that the API key belongs to the project: the changes would be made in another one. */
export async function openProject(settings: Settings, id: string): Promise<ProjectApi> {
  const manage: ProjectApi["manage"] = (method, path, body) =>
    callManagement(settings, method, `/${encode(id)}${path}`, body);
  const appId = settings.need("SCRIP_APP_ID");
  const keys = rowsOf(await manage("GET", "/api-keys"));
  if (!keys.some((key) => key["id"] === appId)) {
    throw new CliError(`the key in SCRIP_APP_ID does not belong to the project ${id}`);
  }
  const token = await requestToken(settings, { scope: "api" });
  const headers = {
    "X-App-Id": appId,
    "X-App-Token": settings.need("SCRIP_APP_TOKEN"),
    Authorization: `Bearer ${String(token["access_token"])}`,
  };
  const call: ProjectApi["call"] = (method, path, body) =>
    callHttp(settings, {
      method,
      path,
      headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { id, call, manage, listAll: (path) => listAll((query) => call("GET", path + query)) };
}
