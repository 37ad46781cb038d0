/** The part of autocannon that the bench uses; the package brings no types of its own. */
declare module 'autocannon' {
  interface Request {
    readonly path?: string
    readonly headers?: Readonly<Record<string, string>>
    /** Called before each request. */
    readonly setupRequest?: (request: Request) => Request
  }
  interface Options {
    readonly url: string
    readonly method?: string
    readonly body?: string
    readonly requests?: readonly Request[]
    readonly connections?: number
    /** Seconds. */
    readonly duration?: number
  }
  interface Result {
    readonly '2xx': number
    readonly '4xx': number
    readonly '5xx': number
    readonly errors: number
    /** Seconds. */
    readonly duration: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
