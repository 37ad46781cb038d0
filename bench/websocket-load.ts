/** Messages on open WebSockets. */

export interface WebSocketLoad {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly headers: readonly string[]
}
