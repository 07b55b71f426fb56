export type {
	CommandRequest,
	CommandResult,
	DirectoryEntry,
	EnvironmentErrorCode,
	ExecutionEnvironment,
	FileStatus,
	GlobRequest,
	GrepRequest,
	GrepResult,
	GrepRow,
} from "./environment/environment.ts";
export { EnvironmentError } from "./environment/environment.ts";
export { LocalEnvironment, type LocalOptions } from "./environment/local.ts";
export type { VariablePolicy } from "./environment/variables.ts";
export {
	type ApprovalAnswer,
	type ApprovalRequest,
	type AskApproval,
	PermissionGate,
	type PermissionLevel,
	permissionLevels,
} from "./permissions.ts";
export { AccessError, findKeyVariable, type ModelAccess, openAccess } from "./profiles/access.ts";
export { findDefaultModel, type ProviderName, providerNames } from "./profiles/models.ts";
export { findProfile, type Profile } from "./profiles/profile.ts";
export type { EndReason, MessageSource, RunEnd, SessionEvent, SessionListener, TokenUsage } from "./session/events.ts";
export { CodingSession, type SessionState, SessionStateError } from "./session/session.ts";
export { defaultSettings, type SessionSettings } from "./session/settings.ts";
export type { SessionOptions } from "./session/setup.ts";
export type { CodingTool, ToolClass } from "./tools/tool.ts";
