/** Where the gateway's own endpoints are, and whether the console is among them. */

export interface BuiltInPlace {
  /** Those that they answer on: canonical, `*.` for one label. Null: every host. */
  readonly hosts: readonly string[] | null
  /** Before the paths of administration and questions about access, such as `/_seatgate`; '': nothing. */
  readonly prefix: string
  /** Before the paths of sign-in and of the keys of signed identity; '': nothing. */
  readonly authPrefix: string
  /** The console is among them, behind `authPrefix`; its pages call the others. */
  readonly console: boolean
}
