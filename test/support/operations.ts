/** Questions to the listener for operators, of a gateway in the test's process or in one of its own. */

interface Operated {
  /** The listener's address. */
  readonly ops: string
}

/** The text of `/metrics`. */
export async function metricsOf({ ops }: Operated): Promise<string> {
  return (await fetch(`${ops}/metrics`)).text()
}

/** The value of a series of `/metrics`, given with its labels; NaN if it does not exist. */
export async function metric(gateway: Operated, series: string): Promise<number> {
  const lines = (await metricsOf(gateway)).split('\n')
  return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1))
}

/** The status and the body of `/readyz`. */
export async function readiness({ ops }: Operated): Promise<{
  status: number
  workers?: string
  redis?: string
  store?: string
  store_writes?: string
}> {
  const answer = await fetch(`${ops}/readyz`)
  return { ...((await answer.json()) as Record<string, unknown>), status: answer.status }
}
