/** The place of the gateway's own endpoints, and whether the console is among them. */

export interface BuiltInPlace {
  /** The hosts that they answer on: canonical, `*.` for one label. Null: every host. */
  readonly hosts: readonly string[] | null
  /**
   * The prefix of the paths of administration and questions about access, such as `/_seatgate`; '': none.
   */
  readonly prefix: string
  /** The prefix of the paths of sign-in and of the keys of signed identity; '': none. */
  readonly authPrefix: string
  /** Whether the console is among them, after `authPrefix`. Its pages call the others. */
  readonly console: boolean
  /** Whether those of SCIM are among them, after `authPrefix`: a tenant has `scim`. */
  readonly scim: boolean
}
