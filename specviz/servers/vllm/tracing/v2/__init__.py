"""The recorder for vLLM's V2 model runner (0.32 and 0.33).

    seam.py      checks that this server has the internals below, and puts the recorder into them
    recorder.py  follows the traced requests through the engine's steps
    gathered.py  the few numbers of a step that a trace needs, taken on the device
    device.py    copies that nobody waits for in the step, and marks in its time
    rule.py      acceptance probabilities and random numbers from those numbers
    uniform.py   the random numbers that Triton draws from a seed and a position

The step of V2 is asynchronous: the engine prepares the next one while the device works. So nothing
here asks the device for a value. What a trace needs is gathered on the device, copied on a stream
of its own, and read in the spool's thread.
"""
