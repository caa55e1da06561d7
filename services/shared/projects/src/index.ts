export { afterProjects, awaitProjects } from "./await-projects.ts";
export { PROJECTS_TOPIC } from "./on-project.ts";
export { type ProjectReplica, startProjectReplica } from "./project-replica.ts";
