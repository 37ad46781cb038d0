/** What an exchange with an MCP server keeps. */

import type { McpCall } from '../../model/mcp.ts'
import type { McpEndpoint } from '../../model/route.ts'
import { Slot } from './exchange.ts'

export class McpExchange {
  readonly server: McpEndpoint
  /** The id of the message; null: it has none, or is not read. */
  id: string | number | null = null
  /** What the message calls; null: it is not read, or is refused. */
  call: McpCall | null = null
  /** The error of JSON-RPC in place of the one for the refusal; null: there is none. */
  error: McpError | null = null
  /** The stream of events that answers it; null: the response has not begun, or is none that can be ended so. */
  stream: McpStream | null = null

  constructor(server: McpEndpoint) {
    this.server = server
  }
}

/** A response that is a stream of events without an end of its own. */
export interface McpStream {
  /** Ends the request to the upstream. The response to the client is left to the caller. */
  abandon(): void
  /** Whether an event may follow. */
  isBetweenEvents(): boolean
}

/** An error of JSON-RPC, with further members of its `data`. */
export interface McpError {
  readonly code: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Filled once a POST has matched the path of an MCP server. Owner: `pipeline/stages/read-mcp-call.ts`. */
export const mcpExchange = new Slot<McpExchange>(true)
