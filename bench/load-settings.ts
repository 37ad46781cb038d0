/** What a load program is asked for, and what it reports. */

import type { Requests } from './requests.ts'

/** The protocol of the requests, and whether each one has a connection of its own. All but the first need TLS at the peer. */
export type Client = 'http1' | 'tls-http1' | 'tls-http2' | 'grpc' | 'tls-connections' | 'tls-resumptions'

export interface Load {
  readonly client: Client
  readonly port: number
  readonly requests: Requests
  /** Number of the first request. */
  readonly from: number
  /** Responses are counted by their status, at the cost of the load program. */
  readonly countStatuses: boolean
  readonly connections: number
  readonly seconds: number
  /** Cores that the peer may use, and the load may not. */
  readonly workers: number
  /** wrk, or the client at a fixed rate, runs at the lowest priority, so that it does not delay others on its cores. */
  readonly background?: boolean
}

export interface Loaded {
  /** Responses. */
  readonly requests: number
  readonly sent: number
  /** Of these, with a status of 400 or above. */
  readonly refused: number
  /** Broken connections, and missing responses. */
  readonly failed: number
  /** Requests per second. */
  readonly rate: number
  /** Responses by status; empty where they were not counted. */
  readonly statuses: Readonly<Record<string, number>>
}
