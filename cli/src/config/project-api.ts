import { CliError } from "../cli-error.ts";
import { encode } from "../commands/arguments.ts";
import { callHttp, callManagement, type JsonObject } from "../http.ts";
import type { Settings } from "../settings.ts";

/** The API of one project, with its API key and the management credentials. */
export type ProjectApi = {
  readonly id: string;
  call(method: string, path: string, body?: JsonObject): Promise<JsonObject>;
  manage(method: string, path: string, body?: JsonObject): Promise<JsonObject>;
  /** All pages of a list. */
  listAll(path: string): Promise<JsonObject[]>;
};

const PAGE_SIZE = 100;
/** The API has at most 100 pages of 100. */
const MAX_PAGES = 100;

/** Checks that the API key belongs to the project: the changes would be made in another one. */
export async function openProject(settings: Settings, id: string): Promise<ProjectApi> {
  const project = `/${encode(id)}`;
  const appId = settings.need("SCRIP_APP_ID");
  const keys = await callManagement(settings, "GET", `${project}/api-keys?limit=${PAGE_SIZE}`);
  if (!rowsOf(keys).some((key) => key["id"] === appId)) {
    throw new CliError(`the key in SCRIP_APP_ID does not belong to the project ${id}`);
  }
  const credentials = { "X-App-Id": appId, "X-App-Token": settings.need("SCRIP_APP_TOKEN") };
  const token = await callHttp(settings, {
    method: "POST",
    path: "/v1/oauth/token",
    headers: { ...credentials, "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "api" }).toString(),
  });
  const headers = { ...credentials, Authorization: `Bearer ${String(token["access_token"])}` };
  const call: ProjectApi["call"] = (method, path, body) =>
    callHttp(settings, {
      method,
      path,
      headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    id,
    call,
    manage: (method, path, body) => callManagement(settings, method, `${project}${path}`, body),
    listAll: async (path) => {
      const rows: JsonObject[] = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const found = rowsOf(await call("GET", `${path}?limit=${PAGE_SIZE}&page=${page}`));
        rows.push(...found);
        if (found.length < PAGE_SIZE) return rows;
      }
      throw new CliError(`${path} has more than ${MAX_PAGES * PAGE_SIZE} entries`);
    },
  };
}

/** The rows of a list; some lists name their array in `data_ref`. */
export const rowsOf = (list: JsonObject): JsonObject[] =>
  list[String(list["data_ref"])] as JsonObject[];
