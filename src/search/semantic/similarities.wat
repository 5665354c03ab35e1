(module
  (memory (export "memory") 1)
  ;; How alike a text and each of $count tools are, written to $out as floats. Vectors are signed bytes, $bytes of them (a
  ;; multiple of 16), those of the tools one after the other; at $scales stands what one of a tool's bytes is worth.
  (func (export "similarities")
    (param $text i32) (param $tools i32) (param $count i32) (param $bytes i32) (param $scales i32) (param $out i32)
    (local $at i32) (local $sum v128) (local $mine v128) (local $theirs v128)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $more
          (local.set $mine (v128.load (i32.add (local.get $text) (local.get $at))))
          (local.set $theirs (v128.load (i32.add (local.get $tools) (local.get $at))))
          (local.set $sum (i32x4.add (local.get $sum) (i32x4.add
            (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_low_i8x16_s (local.get $mine) (local.get $theirs)))
            (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_high_i8x16_s (local.get $mine) (local.get $theirs))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $more (i32.lt_u (local.get $at) (local.get $bytes))))
        (f32.store (local.get $out) (f32.mul
          (f32.load (local.get $scales))
          (f32.convert_i32_s (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
        (local.set $tools (i32.add (local.get $tools) (local.get $bytes)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))))
