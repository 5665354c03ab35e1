# Reads the driver itself from the channel, so that no argument grows long and no file is needed.
import os
def r(n):
 b=b""
 while len(b)<n:
  c=os.read(3,n-len(b))
  if not c:os._exit(70)
  b+=c
 return b
exec(compile(r(int(r(8),16)),"<hermes>","exec"),{"__name__":"<hermes>"})
