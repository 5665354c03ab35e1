import { subject } from "./row.js";

const DELETES = "deletes data or a thing others rely on";

/** Workflows, experiments, models and the data they are made of. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("rare", [
  { dry: "dry-run", tools: [
    { program: "airflow", reason: DELETES, not_match: ["airflow dags list"], rows: [
      { path: "db reset|clean|downgrade", match: ["airflow db reset -y"] },
      { path: "dags|pools|users|connections|variables|roles delete", match: ["airflow dags delete"] },
      { path: "tasks clear", match: ["airflow tasks clear"] },
      { path: "resetdb|delete_dag", match: ["airflow resetdb"] },
    ] },
    { program: "dvc", path: "gc|destroy|remove", reason: DELETES, match: ["dvc gc"] },
    { program: "mlflow", reason: DELETES, rows: [
      { path: "gc", match: ["mlflow gc"] },
      { path: "experiments|runs|models delete", match: ["mlflow experiments delete"] },
    ] },
    { program: "wandb", path: "artifact|sweep|offline rm|delete|stop|cancel", reason: DELETES,
      match: ["wandb artifact rm"] },
    { program: "ollama", path: "rm", reason: DELETES, match: ["ollama rm llama3"] },
    { program: "huggingface-cli|hf", reason: DELETES, rows: [
      { path: "delete-cache", match: ["huggingface-cli delete-cache"] },
      { path: "repo|cache|repo-files delete|rm|prune", match: ["huggingface-cli repo delete"] },
    ] },
    { program: "prefect", path: "** delete", reason: DELETES, match: ["prefect delete"] },
    { program: "dagster", path: "run|asset delete|wipe", reason: DELETES, match: ["dagster run delete"] },
  ] },
]);
