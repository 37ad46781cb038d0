/** A rejection that nobody listens for is a fault of ours or of a library's, and no reason to end for all. */

import type { Logger } from 'pino'

/** For the process; each request that is concerned has failed closed by itself. */
export function outliveRejections(logger: Logger): void {
  process.on('unhandledRejection', (cause) => {
    const message = cause instanceof Error ? cause.message : String(cause)
    logger.error({ cause: message }, 'a rejection that nobody listened for: please report it')
  })
}
