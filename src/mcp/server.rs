//! The MCP server: every tool of the executor over JSON-RPC on standard input and output.
//!
//! A tool's refusal is a result with `isError`, never a protocol error, so that a model reads it. Programs
//! find `{error, details}` under `_meta.killick`. One process is one session. Nothing here judges a call.

use std::future::Future;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, InitializeResult, JsonObject, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::framing::{Framing, MAX_LINE_BYTES};
use crate::dispatch::{Call, Executor};
use crate::tool::{Outcome, Reach, Spec};

/// What a client is told about the server as a whole.
const INSTRUCTIONS: &str = "Files are addressed by anchors: read and search show every line as \
LINE:HH|content. Paths are relative to the workspace. A refusal opens with its code and says what to \
do next.";

/// Why the server ended without its client closing it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client did not open the conversation as the protocol says.
    #[error("the client did not complete the MCP handshake")]
    Handshake(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The task that serves was lost.
    #[error("the MCP conversation broke off")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves `executor` on standard input and output until the client closes its side.
pub async fn serve_stdio(executor: Arc<Executor>) -> Result<(), ServeError> {
    let (input, output) = stdio_pipes();
    let (framing, input, output) = Framing::start(input, output);
    let served = serve(Server { executor }, input, output).await;
    framing.finish().await;
    served
}

async fn serve(
    server: Server,
    input: DuplexStream,
    output: DuplexStream,
) -> Result<(), ServeError> {
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE_BYTES);
    let service = match server.serve(transport).await {
        Ok(service) => service,
        // A client that leaves before it has said anything wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Handshake(Box::new(error))),
    };
    service.waiting().await.map(drop).map_err(ServeError::Broken)
}

#[derive(Clone, Debug)]
struct Server {
    executor: Arc<Executor>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = InitializeResult::new(capabilities).with_instructions(INSTRUCTIONS);
        info.server_info = Implementation::new("killick", env!("CARGO_PKG_VERSION"));
        info
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, rmcp::ErrorData>> + Send + '_ {
        let tools = self.executor.registry().specs().map(described).collect();
        std::future::ready(Ok(ListToolsResult::with_all_items(tools)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let call = Call { tool: request.name.into_owned(), arguments };
        let outcome = self.executor.call(call, &context.ct).await;
        Ok(CallToolResponse::from(answered(outcome)))
    }

    /// Answers what the protocol's types do not take; a call whose arguments are no object is a call still.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, rmcp::ErrorData> {
        if request.method != "tools/call" {
            let message = format!("there is no method `{}`", request.method);
            return Err(rmcp::ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        let mut params = request.params.unwrap_or_default();
        let Some(tool) = params.get("name").and_then(Value::as_str).map(str::to_owned) else {
            let message = "tools/call takes {name, arguments}, the name being a string";
            return Err(rmcp::ErrorData::invalid_params(message, None));
        };
        let arguments = params.get_mut("arguments").map(Value::take).unwrap_or_default();
        let outcome = self.executor.call(Call { tool, arguments }, &context.ct).await;
        let result = serde_json::to_value(answered(outcome));
        result.map(CustomResult::new).map_err(|error| {
            rmcp::ErrorData::internal_error(format!("the result has no JSON: {error}"), None)
        })
    }
}

fn described(spec: &Spec) -> Tool {
    let schema = spec.schema.as_object().cloned().unwrap_or_default();
    let annotations = match spec.reach {
        Reach::Reads => ToolAnnotations::new().read_only(true),
        Reach::Writes | Reach::Runs => {
            ToolAnnotations::new().read_only(false).destructive(true)
        }
    };
    Tool::new(spec.name.clone(), spec.description.clone(), Arc::new(schema))
        .with_annotations(annotations.open_world(spec.reach == Reach::Runs))
}

fn answered(outcome: Outcome) -> CallToolResult {
    let error = outcome
        .error
        .map(|problem| json!({"code": problem.code.as_str(), "message": problem.message}));
    let mut meta = JsonObject::new();
    meta.insert("killick".to_owned(), json!({"error": error, "details": outcome.details}));
    let content = vec![ContentBlock::text(outcome.text)];
    let mut result = if outcome.ok {
        CallToolResult::success(content)
    } else {
        CallToolResult::error(content)
    };
    result.meta = Some(MetaObject::from(meta));
    result
}
