/** Unhandled rejections are faults of the gateway or a library. The process continues. */

import type { Logger } from 'pino'

/** Logs unhandled rejections. Each request concerned has failed closed by itself. */
export function logUnhandledRejections(logger: Logger): void {
  process.on('unhandledRejection', (cause) => {
    const message = cause instanceof Error ? cause.message : String(cause)
    logger.error({ cause: message }, 'unhandled rejection: please report it')
  })
}
