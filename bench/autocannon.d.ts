/** The part of autocannon that the bench uses; the package brings no types of its own. */
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly headers?: Readonly<Record<string, string>>
    readonly connections?: number
    /** Seconds. */
    readonly duration?: number
  }
  interface Result {
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
    readonly requests: { readonly average: number; readonly total: number }
  }
  export default function autocannon(options: Options): Promise<Result>
}
