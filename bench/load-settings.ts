/** The loads that load programs produce, and their results. */

import type { LoadProcess } from './load-process.ts'
import type { Requests } from './requests.ts'

/**
 * The protocol of the requests, and whether each one has a connection of its own. A request by `websocket` is
 * a message on an open connection. All but the first two need TLS at the peer.
 */
export type Client =
  | 'http1'
  | 'websocket'
  | 'tls-http1'
  | 'tls-http2'
  | 'grpc'
  | 'tls-connections'
  | 'tls-resumptions'

export function needsTls(client: Client): boolean {
  return client !== 'http1' && client !== 'websocket'
}

interface CommonLoad extends LoadProcess {
  readonly port: number
  readonly requests: Requests
  /** The number of the first request. */
  readonly from: number
  readonly connections: number
}

/** A load at full speed. */
export interface Load extends CommonLoad {
  readonly client: Client
  /** Responses are counted by their status, at the cost of the load program. */
  readonly countStatuses: boolean
}

export interface RatedLoad extends CommonLoad {
  /** Requests per second. */
  readonly rate: number
}

export interface Loaded {
  /** Responses. */
  readonly requests: number
  readonly sent: number
  /** Responses with a status of 400 or above. */
  readonly refused: number
  /** Broken connections, and missing responses. */
  readonly failed: number
  /** Requests per second. */
  readonly rate: number
  /** Responses by status; empty if they were not counted. */
  readonly statuses: Readonly<Record<string, number>>
}

/** Milliseconds, from when a request was due to the end of its response. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly most: number
  /** The p99 of the client's own delay in sending, which is part of all the others. */
  readonly late: number
  /** Responses. */
  readonly requests: number
  /** Responses with a status other than 200. */
  readonly refused: number
  readonly failed: number
  /** The intended requests per second. */
  readonly rate: number
}

/** TLS 1.3 connections, each for one request. */
export interface HandshakeLoad extends LoadProcess {
  readonly port: number
  /** Whether each connection resumes the session of an earlier one. */
  readonly resume: boolean
  /** Connections that are open at the same time. */
  readonly atOnce: number
  /** The header section of the request, which asks for the end of the connection. */
  readonly head: string
}

/** Messages on open WebSockets. */
export interface WebSocketLoad extends LoadProcess {
  readonly port: number
  readonly connections: number
  readonly path: string
  readonly headers: readonly string[]
}
