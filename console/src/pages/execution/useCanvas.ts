// A canvas as wide as its place, redrawn when what it shows, its size or the colours change. Hidden pages draw nothing.
import { useEffect, useRef, useState } from 'preact/hooks'
import { paint } from '../../lib/theme'

export interface Pen {
  context: CanvasRenderingContext2D
  width: number
  height: number
}

const RATIO_MAX = 2

export function useCanvas(height: number, draw: (pen: Pen) => void, inputs: readonly unknown[]) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    watcher.observe(canvas.current!.parentElement!)
    return () => watcher.disconnect()
  }, [])
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (element == null || context == null || width === 0 || document.hidden) return
    const ratio = Math.min(RATIO_MAX, window.devicePixelRatio)
    element.width = width * ratio
    element.height = height * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    draw({ context, width, height })
  }, [width, height, paint.value, ...inputs])
  return canvas
}
