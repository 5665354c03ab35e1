import type { ServiceDefinition } from "@grpc/grpc-js";
import protobuf from "protobufjs";

/**
 * The part of Modal's wire protocol that a client of sandboxes uses: only the fields that the server looks at or
 * answers with, by the numbers the published client sends.
 */
const MESSAGES = `
syntax = "proto3";
message Nothing {}
message AuthTokenGetResponse { string token = 1; }
message AppGetOrCreateRequest { string app_name = 1; string environment_name = 2; int32 object_creation_type = 3; }
message AppGetOrCreateResponse { string app_id = 1; }
message EnvironmentGetOrCreateRequest { string deployment_name = 1; }
message EnvironmentSettings { string image_builder_version = 1; }
message EnvironmentMetadata { string name = 1; EnvironmentSettings settings = 2; }
message EnvironmentGetOrCreateResponse { string environment_id = 1; EnvironmentMetadata metadata = 2; }
message GenericResult { int32 status = 1; string exception = 2; int32 exitcode = 3; }
message BaseImage { string image_id = 1; string docker_tag = 2; }
message Image { repeated BaseImage base_images = 5; repeated string dockerfile_commands = 6; }
message ImageGetOrCreateRequest { Image image = 2; string app_id = 4; }
message ImageGetOrCreateResponse { string image_id = 1; GenericResult result = 2; }
message ImageId { string image_id = 1; }
message Resources { uint32 memory_mb = 2; uint32 milli_cpu = 3; }
message Sandbox {
  repeated string entrypoint_args = 1;
  string image_id = 3;
  Resources resources = 5;
  uint32 timeout_secs = 7;
  string workdir = 8;
  optional uint32 idle_timeout_secs = 33;
}
message SandboxTag { string tag_name = 1; string tag_value = 2; }
message SandboxCreateRequest { string app_id = 1; Sandbox definition = 2; repeated SandboxTag tags = 4; }
message SandboxId { string sandbox_id = 1; }
message SandboxGetTaskIdResponse { optional string task_id = 1; GenericResult task_result = 2; }
message SandboxWaitRequest { string sandbox_id = 1; float timeout = 2; }
message SandboxWaitResponse { GenericResult result = 1; }
message SandboxListRequest { string app_id = 1; double before_timestamp = 2; repeated SandboxTag tags = 5; }
message SandboxInfo { string id = 1; double created_at = 3; string app_id = 5; repeated SandboxTag tags = 6; }
message SandboxListResponse { repeated SandboxInfo sandboxes = 1; }
message TaskId { string task_id = 1; }
message TaskGetCommandRouterAccessResponse { string jwt = 1; string url = 2; }
message PTYInfo { bool enabled = 1; uint32 winsz_rows = 2; uint32 winsz_cols = 3; string env_term = 4; }
message TaskExecStartRequest {
  string task_id = 1;
  string exec_id = 2;
  repeated string command_args = 3;
  int32 stdout_config = 4;
  int32 stderr_config = 5;
  optional string workdir = 7;
  PTYInfo pty_info = 9;
  map<string, string> env = 12;
}
message TaskExecId { string task_id = 1; string exec_id = 2; }
message TaskExecStdioReadRequest { string task_id = 1; string exec_id = 2; uint64 offset = 3; int32 file_descriptor = 4; }
message TaskExecStdioReadResponse { bytes data = 1; }
message TaskExecStdinWriteRequest { string task_id = 1; string exec_id = 2; uint64 offset = 3; bytes data = 4; bool eof = 5; }
message TaskExecStatus { oneof ended { int32 code = 1; int32 signal = 2; } }
message TaskSnapshotFilesystemRequest { string task_id = 1; string snapshot_id = 2; int64 ttl_seconds = 3; }
`;

const CONTROL = {
  AuthTokenGet: ["Nothing", "AuthTokenGetResponse"],
  AppGetOrCreate: ["AppGetOrCreateRequest", "AppGetOrCreateResponse"],
  EnvironmentGetOrCreate: ["EnvironmentGetOrCreateRequest", "EnvironmentGetOrCreateResponse"],
  ImageGetOrCreate: ["ImageGetOrCreateRequest", "ImageGetOrCreateResponse"],
  ImageFromId: ["ImageId", "ImageId"],
  ImageDelete: ["ImageId", "Nothing"],
  SandboxCreate: ["SandboxCreateRequest", "SandboxId"],
  SandboxGetTaskId: ["SandboxId", "SandboxGetTaskIdResponse"],
  SandboxWait: ["SandboxWaitRequest", "SandboxWaitResponse"],
  SandboxTerminate: ["SandboxId", "Nothing"],
  SandboxList: ["SandboxListRequest", "SandboxListResponse"],
  TaskGetCommandRouterAccess: ["TaskId", "TaskGetCommandRouterAccessResponse"],
} as const;

const ROUTER = {
  TaskExecStart: ["TaskExecStartRequest", "Nothing"],
  TaskExecStdinWrite: ["TaskExecStdinWriteRequest", "Nothing"],
  TaskExecStdioRead: ["TaskExecStdioReadRequest", "TaskExecStdioReadResponse"],
  TaskExecPoll: ["TaskExecId", "TaskExecStatus"],
  TaskExecWait: ["TaskExecId", "TaskExecStatus"],
  TaskSnapshotFilesystem: ["TaskSnapshotFilesystemRequest", "ImageId"],
} as const;

export type ControlMethod = keyof typeof CONTROL;
export type RouterMethod = keyof typeof ROUTER;

/** A decoded message; each handler knows which fields its request has. */
export type Message = Record<string, unknown>;

export function controlDefinition(): ServiceDefinition {
  return definition("modal.client.ModalClient", CONTROL);
}

export function routerDefinition(): ServiceDefinition {
  return definition("modal.task_command_router.TaskCommandRouter", ROUTER);
}

function definition(
  service: string,
  methods: Readonly<Record<string, readonly [request: string, response: string]>>,
): ServiceDefinition {
  const { root } = protobuf.parse(MESSAGES);
  const codec = (name: string) => {
    const type = root.lookupType(name);
    return {
      encode: (message: Message) => Buffer.from(type.encode(type.fromObject(message)).finish()),
      decode: (bytes: Buffer): Message =>
        type.toObject(type.decode(bytes), { longs: Number, arrays: true, objects: true, defaults: true }),
    };
  };
  return Object.fromEntries(
    Object.entries(methods).map(([method, [requestName, responseName]]) => {
      const request = codec(requestName);
      const response = codec(responseName);
      return [
        method,
        {
          path: `/${service}/${method}`,
          requestStream: false,
          responseStream: method === "TaskExecStdioRead",
          requestSerialize: request.encode,
          requestDeserialize: request.decode,
          responseSerialize: response.encode,
          responseDeserialize: response.decode,
        },
      ];
    }),
  );
}
