/**
 * What servers of every kind can do for a test: stop answering, crash and come back. The base of redis.ts and
 * postgres.ts.
 */

import { Child, type Launch } from './child.ts'

export abstract class Server {
  readonly port: number
  protected readonly folder: string
  #child: Child | null = null

  protected constructor(port: number, folder: string) {
    this.port = port
    this.folder = folder
  }

  /** Of the process that was started, the parent of all others. */
  get pid(): number {
    return this.#current.pid
  }

  get running(): boolean {
    return this.#child?.running ?? false
  }

  /** What it said, in all its lives. */
  get log(): string {
    return this.#current.log
  }

  /** At once and with all its children: no goodbye, nothing written down. `restart` brings it back as after a crash. */
  async kill(): Promise<void> {
    await this.#current.kill()
  }

  /** Every process of it stands still: its connections stay open, and nothing is answered. */
  async freeze(): Promise<void> {
    await this.#current.freeze()
  }

  thaw(): void {
    this.#current.thaw()
  }

  /** Asks it to end, frozen or not; one that has not ended after a while is killed. */
  protected async end(signal: NodeJS.Signals): Promise<void> {
    await this.#child?.end(signal)
  }

  /** Resolves once it is up, by what `isUp` says of the process. */
  protected async launch(
    how: Omit<Launch, 'folder'>,
    isUp: (pid: number) => Promise<boolean>,
  ): Promise<void> {
    const child = await Child.start({ ...how, folder: this.folder })
    this.#child = child
    await child.ready(() => isUp(child.pid))
  }

  get #current(): Child {
    if (this.#child === null) throw new Error('the server was not started')
    return this.#child
  }
}
