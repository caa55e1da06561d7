import { type Api, openApi } from "../api.ts";
import { CliError } from "../cli-error.ts";
import { encode } from "../commands/arguments.ts";
import { callManagement, type JsonObject, rowsOf } from "../http.ts";
import type { Settings } from "../settings.ts";

/** The API of one project, with its API key and the management credentials. */
export type ProjectApi = Pick<Api, "call" | "listAll"> & {
  readonly id: string;
  manage(method: string, path: string, body?: JsonObject): Promise<JsonObject>;
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
  return { ...(await openApi(settings)), id, manage };
}
