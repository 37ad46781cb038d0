/** The part of autocannon that the bench uses; the package has no types of its own. */
declare module 'autocannon' {
  interface Request {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  interface Options {
    readonly url: string
    /** Called before each request. */
    readonly requests: readonly { readonly setupRequest: () => Request }[]
    readonly connections: number
    /** Seconds. */
    readonly duration: number
  }
  interface Result {
    readonly '2xx': number
    readonly '4xx': number
    readonly '5xx': number
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>
    readonly errors: number
    /** Seconds. */
    readonly duration: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
